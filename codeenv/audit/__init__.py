"""Whether a task leaks its answer, and whether its grading is calibrated."""

from codeenv.audit.check import audit_report, audit_task
from codeenv.audit.inside import Inside, look_inside
from codeenv.audit.models import AuditReport, Leak, Verification
from codeenv.audit.twins import find_twins
from codeenv.audit.verify import verify_task

__all__ = [
    "AuditReport",
    "Inside",
    "Leak",
    "Verification",
    "audit_report",
    "audit_task",
    "find_twins",
    "look_inside",
    "verify_task",
]
