"""Whether a task leaks its answer, and whether its grading is calibrated."""

from codeenv.audit.check import audit_report, audit_task
from codeenv.audit.models import AuditReport, Leak, Verification
from codeenv.audit.twins import find_twins
from codeenv.audit.verify import verify_task

__all__ = [
    "AuditReport",
    "Leak",
    "Verification",
    "audit_report",
    "audit_task",
    "find_twins",
    "verify_task",
]
