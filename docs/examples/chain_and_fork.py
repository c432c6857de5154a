"""Chain runs into one conversation, then fork it: the same history, another conversation id.

Run it with `python docs/examples/chain_and_fork.py`; a scripted model stands in for a real one.
"""

from golem_cli import Agent, new_id
from golem_cli.testing import ScriptedModel

agent = Agent(ScriptedModel("Kingfisher.", "In white, on the bow.", "Then Little Heron."))

first = agent.run_sync("A name for a small blue boat?")
second = agent.run_with_history_sync(first.messages, "Where do I paint it?")
fork = agent.run_with_history_sync(first.messages, "And a quieter name?", conversation_id=new_id())

# A follow-up takes the id of the newest message that has one; every run has an id of its own.
print("one conversation:", second.conversation_id == first.conversation_id)
print("two runs:", second.run_id != first.run_id)

# The fork has its own id. The history that it was given keeps the parent's stamps.
print("another conversation:", fork.conversation_id != first.conversation_id)
print("stamps:", [message.conversation_id == first.conversation_id for message in fork.messages])

for result in (second, fork):
    print([message.content for message in result.messages])
