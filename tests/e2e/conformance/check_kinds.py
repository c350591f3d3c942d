"""What kinds look like: defaults, tables, validation."""

from tests.e2e.conformance.conversation import TABLE, Conversation, asked, check, path_of

ASKED = asked("kinds")


@check
async def every_kind_gets_its_defaults(talk: Conversation) -> None:
    for number, (api, plural, body) in enumerate(ASKED["minimal"]):
        path = talk.at(plural, api=api)
        await talk.post(
            path, {"metadata": {"name": f"k{number}"}, **body}, dryRun="All", fieldValidation="Strict"
        )
    for api, plural, body in ASKED["cluster"]:
        path = f"{path_of(api)}/{plural}"
        await talk.post(
            path, {"metadata": {"name": talk.namespace}, **body}, dryRun="All", fieldValidation="Strict"
        )


@check
async def every_kind_is_shown_as_a_table(talk: Conversation) -> None:
    for api, plural in dict.fromkeys((api, plural) for api, plural, _ in ASKED["minimal"]):
        heard = await talk.ask("GET", talk.at(plural, api=api), accept=TABLE)
        columns = heard.body.get("columnDefinitions", [])
        talk.note(plural, [[c["name"], c["type"], c["format"], c["priority"]] for c in columns])
    names = dict.fromkeys((api, plural) for api, plural, _ in ASKED["cluster"])
    for api, plural in names:
        heard = await talk.ask(
            "GET", f"{path_of(api)}/{plural}", accept=TABLE, fieldSelector="metadata.name=none"
        )
        columns = heard.body.get("columnDefinitions", [])
        talk.note(plural, [[c["name"], c["type"], c["format"], c["priority"]] for c in columns])
