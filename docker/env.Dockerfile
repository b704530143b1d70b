# An environment image as codeenv composes it: a base and the environment's layer, nothing else.
# The build context is a folder with `env/`, the layer that codeenv keeps in its cache.
ARG BASE
FROM ${BASE}
COPY env/ /opt/env/
ENV PATH=/opt/env/bin:/usr/local/bin:/usr/bin:/bin VIRTUAL_ENV=/opt/env LANG=C.UTF-8
USER 1000:1000
WORKDIR /workspace
