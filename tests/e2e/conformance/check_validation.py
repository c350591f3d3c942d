"""Which objects of built-in kinds are refused, and for which of their fields."""

from tests.e2e.conformance.conversation import STRATEGIC, Conversation, asked, check

ASKED = asked("validation")
CONTAINER = ASKED["container"]


@check
async def pods_are_validated_field_by_field(talk: Conversation) -> None:
    for number, spec in enumerate(ASKED["specs"]):
        heard = await talk.ask(
            "POST", talk.at("pods"), {"metadata": {"name": f"p{number}"}, "spec": spec}, dryRun="All"
        )
        talk.judged(spec, heard)


@check
async def other_kinds_are_validated_too(talk: Conversation) -> None:
    for number, (api, plural, body) in enumerate(ASKED["others"]):
        path = talk.at(plural, api=api)
        heard = await talk.ask("POST", path, {"metadata": {"name": f"o{number}"}, **body}, dryRun="All")
        talk.judged([plural, body], heard)


@check
async def pods_change_only_where_they_may(talk: Conversation) -> None:
    path = talk.at("pods", "p")
    spec = {"schedulerName": "none", "containers": [CONTAINER], "terminationGracePeriodSeconds": 5}
    spec["automountServiceAccountToken"] = False
    await talk.post(
        talk.at("pods"), {"metadata": {"name": "p"}, "spec": {**spec, "schedulingGates": [{"name": "a/b"}]}}
    )
    for change in ASKED["spec_changes"]:
        talk.judged(change, await talk.ask("PATCH", path, {"spec": change}, STRATEGIC))
    for status in ASKED["statuses"]:
        await talk.patch(
            f"{path}/status", {"status": status, "spec": {"priority": 9}, "metadata": {"labels": {"s": "t"}}}
        )
    binding = {"metadata": {"name": "p"}, "target": {"kind": "Node", "name": "n"}}
    for change in ({"target": {}}, {"target": {"kind": "Pod", "name": "n"}}, {"metadata": {"name": "q"}}, {}):
        await talk.post(f"{path}/binding", {**binding, **change})
    await talk.post(f"{path}/binding", binding)
    await talk.get(path)
    await talk.delete(path)
    await talk.delete(path, {"gracePeriodSeconds": 3})
    await talk.delete(path, {"gracePeriodSeconds": 0})
