"""How a component's process logs: lines for people, or one JSON object a line for machines.

Stands for `--logging-format` of Kubernetes components.
"""

import datetime
import json
import logging

FORMATS = ("text", "json")


class JsonFormatter(logging.Formatter):
    """{"time", "level", "logger", "message", "exception"?}, one line a record."""

    def format(self, record: logging.LogRecord) -> str:
        moment = datetime.datetime.fromtimestamp(record.created, datetime.UTC)
        content = {
            "time": moment.isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            content["exception"] = self.formatException(record.exc_info)
        return json.dumps(content)


def configure(log_format: str) -> None:
    """Send everything from level INFO to stderr. `log_format` is one of FORMATS; once, at the entry point."""
    handler = logging.StreamHandler()
    text = logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s")
    handler.setFormatter(JsonFormatter() if log_format == "json" else text)
    logging.basicConfig(level=logging.INFO, handlers=[handler])
