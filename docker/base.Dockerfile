# The `registry` base: the same as bootstrap-debian.sh makes, on Python's official image.
# docker build -f base.Dockerfile -t codeenv/base:registry .
ARG IMAGE=python:3.13-slim
FROM ${IMAGE}
ARG PACKAGES=
RUN apt-get update \
 && apt-get install -y --no-install-recommends \
      git bash coreutils findutils grep sed diffutils patch procps less make ca-certificates tzdata libstdc++6 \
      ${PACKAGES} \
 && apt-get clean
COPY finish-base.sh /tmp/finish-base.sh
RUN sh /tmp/finish-base.sh
