/** Words that operators type for an entry, by the entry's id, where its label and its detail have others. */
const WORDS: Readonly<Record<string, readonly string[]>> = {
  "command:drain all": ["stop everything", "maintenance"],
  "command:undrain all": ["lift drain of everything", "end maintenance"],
  "command:drain": ["evacuate"],
  "command:undrain": ["lift drain"],
  "command:reset": ["kill run", "evict holder", "force unlock"],
  "command:release": ["remove waiter", "cancel waiting"],
  "command:schedule trigger": ["run now", "start now"],
  "command:schedule dead": ["dead letters", "failed occurrences"],
  "action:waits": ["who blocks whom", "deadlock"],
  "action:placeBack": ["go back", "previous place"],
  "action:placeForward": ["go forward", "next place"],
  "action:travel": ["time travel", "go to a past time"],
  "action:theme": ["colours", "dark mode", "light mode"],
  "action:help": ["keyboard shortcuts"],
  "action:export": ["save as csv", "save as file"],
  "action:notifyMe": ["alert", "watch row"],
};

const OF_CONTEXTS = ["switch cluster", "change cluster", "switch context"];

/** Minimum length of a query: one or two letters begin too many words. */
const LEAST_LETTERS = 3;

/** Lists the phrases that find an entry besides its label and its detail. */
export function listOperatorWords({ id, kind }: { id: string; kind: string }): readonly string[] {
  return kind === "context" ? OF_CONTEXTS : (WORDS[id] ?? []);
}

/** Whether each word of a query begins a word of one of the phrases. */
export function hasPhrase(phrases: readonly string[], query: string): boolean {
  if (query.length < LEAST_LETTERS) return false;
  const sought = query.toLowerCase().split(/\s+/);
  return phrases.some((phrase) => {
    const words = phrase.split(" ");
    return sought.every((part) => words.some((word) => word.startsWith(part)));
  });
}
