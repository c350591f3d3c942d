"""From the bytes of a body to an object of the target's kind, decoded and defaulted.

Stands for the decoders of kube-apiserver's handlers, and for fieldValidation.
"""

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.errors import Cause, bad_request, invalid
from gpuyard_cluster.apiserver.kinds import defaults, kinds
from gpuyard_cluster.apiserver.kinds.resources import Resource
from gpuyard_cluster.apiserver.requests import Request
from gpuyard_cluster.apiserver.wire import encoding
from gpuyard_cluster.apiserver.wire.options import WriteOptions


def read_object(request: Request, resource: Resource, options: WriteOptions) -> tuple[JSON, list[str]]:
    """The object in a POST or PUT, and warnings for the client; ApiError for anything else than such an object."""
    body = encoding.decode(request.body, request.content_type)
    obj: JSON = {} if body.value is None else body.value
    if not isinstance(obj, dict):
        raise bad_request(
            "the object provided is unrecognized: it must be a JSON object with apiVersion and kind"
        )
    check_type(obj, resource)
    return obj, settle(obj, resource, options, duplicates=body.duplicates)


def read_kind(request: Request, api_version: str, kind: str) -> JSON:
    """The body of a subresource or review: an object of this built-in kind, which is not stored."""
    value = encoding.decode(request.body, request.content_type).value
    if not isinstance(value, dict):
        raise bad_request(f"the body must be a JSON object of kind {kind}")
    given = (value.setdefault("apiVersion", api_version), value.setdefault("kind", kind))
    if given != (api_version, kind):
        raise bad_request(f"the body must be a {kind} of {api_version}, not a {given[1]} of {given[0]}")
    kinds.decode(value)
    value.setdefault("metadata", {})
    return value


def read_delete_options(request: Request) -> JSON:
    """The DeleteOptions of a DELETE, which may have none."""
    if not request.body:
        return {}
    value = encoding.decode(request.body, request.content_type).value
    if isinstance(value, dict) and value.get("kind", "DeleteOptions") != "DeleteOptions":
        raise bad_request(f"the body of a DELETE must be DeleteOptions, not a {value['kind']}")
    # DeleteOptions is in every group, so the table of kinds has it only inside an Eviction.
    around: JSON = {"kind": "Eviction", "apiVersion": "policy/v1", "deleteOptions": value}
    kinds.decode(around)
    options: JSON = around.get("deleteOptions", {})
    return options


def check_type(obj: JSON, resource: Resource) -> None:
    """Set kind and apiVersion where the client left them out; 400 or 422 when they are another's."""
    if resource.custom and not (obj.get("kind") and obj.get("apiVersion")):
        raise bad_request(
            "Object 'Kind' is missing: a custom resource says what it is by apiVersion and kind"
        )
    kind, version = obj.setdefault("kind", resource.kind), obj.setdefault("apiVersion", resource.api_version)
    if version != resource.api_version:
        raise bad_request(
            f"the API version in the data ({version}) does not match the expected API version "
            f"({resource.api_version})"
        )
    metadata = obj.get("metadata")
    if metadata is None:
        obj["metadata"] = {}
    elif not isinstance(metadata, dict):
        raise bad_request(f"metadata must be an object, not {type(metadata).__name__}")
    if kind == resource.kind:
        return
    if resource.custom:
        message = f'Invalid value: "{kind}": must be {resource.kind}'
        raise invalid(
            f"{kind}.{resource.group}",
            str(obj["metadata"].get("name", "")),
            [Cause("kind", "FieldValueInvalid", message)],
        )
    raise bad_request(f'{kind} in version "{resource.version}" cannot be handled as a {resource.kind}')


def settle(
    obj: JSON,
    resource: Resource,
    options: WriteOptions,
    *,
    duplicates: tuple[str, ...] = (),
    patched: bool = False,
) -> list[str]:
    """Bring `obj` into the form that is stored, in place: typed, without unknown fields, defaults filled in.

    The result are warnings for the client; with fieldValidation=Strict they are a 400.
    """
    if patched:  # a body was checked when it was read
        encoding.check_depth(obj)
    unknown = kinds.decode(obj, patched=patched)
    if resource.schema is not None:
        unknown += resource.schema.prune(obj)
        resource.schema.default(obj)
    else:
        _fill_parts(obj)
        defaults.apply_defaults(obj["kind"], obj)
    problems = [f'unknown field "{path}"' for path in unknown]
    problems += [f'duplicate field "{path}"' for path in duplicates]
    if problems and options.validation == "Strict":
        kind, version = resource.kind, resource.version
        if patched:
            message = f"Invalid value: strict decoding error: {', '.join(problems)}"
            raise invalid("", "", [Cause("patch", "FieldValueInvalid", message)])
        raise bad_request(
            f'{kind} in version "{version}" cannot be handled as a {kind}: '
            f"strict decoding error: {', '.join(problems)}"
        )
    return problems if options.validation == "Warn" else []


def _fill_parts(obj: JSON) -> None:
    """Go encodes an empty struct as {}: a kind that has a spec or a status always shows it."""
    type_name = kinds.type_of(obj["apiVersion"], obj["kind"])
    known = kinds.fields(type_name) if type_name is not None else {}
    for part in ("spec", "status"):
        if part in known:
            obj.setdefault(part, {})
