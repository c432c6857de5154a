"""Resume a failed run from its evidence: what was completed is neither lost nor done twice.

Run it with `python docs/examples/resume_failed_run.py`; a scripted model stands in for a real one.
"""

from golem_cli import Agent, ModelError, Result, RunError
from golem_cli.testing import ScriptedModel, ScriptedTool, call

booking = ScriptedTool("book", "Booked: table 7, eight o'clock.")
model = (
    ScriptedModel()
    .respond(tool_calls=[call("call_1", "book", '{"guests": 2}')])
    .fail(ModelError("the connection was dropped", retryable=True))
    .respond("You have table 7 at eight.")
)
agent = Agent(model, tools=[booking.tool])


def ask(prompt: str) -> Result[str]:
    """Run the prompt; when the run fails after a completed step, go on from there once."""
    try:
        return agent.run_sync(prompt)
    except RunError as error:
        print("failed:", error)
        partial = error.partial
        if partial is None:  # nothing was completed: there is nothing to go on from
            raise
    print("completed:", [message.role for message in partial.messages])
    print("requests:", partial.requests, "tool calls:", partial.tool_calls)
    return agent.run_with_history_sync(partial.messages, "continue")


print("answer:", ask("Book a table for two.").output)
print("booked:", len(booking.calls), "time")
