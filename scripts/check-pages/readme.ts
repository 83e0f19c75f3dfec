/** The lines that a reader sees of README.md without scrolling. */
const FIRST_SCREEN_LINES = 45;

/** How a newcomer tries signalbox, and how they test it. CI calls the second as it is written here. */
const [DEMO, TEST] = ["npm ci && npm run demo", "npm ci && npm test"];

/** @param run  the script .ci/run */
export function listReadmeFaults(readme: string, run: string): string[] {
  const screen = readme.split("\n").slice(0, FIRST_SCREEN_LINES);
  const blocks = screen.join("\n").split(/^```.*$/m);
  const lines = blocks.filter((_, at) => at % 2 === 1).flatMap((block) => block.split("\n"));
  const faults = [DEMO, TEST]
    .filter((command) => !lines.some((line) => startsWith(line, command)))
    .map(
      (command) =>
        `README.md: "${command}" must be a line of a code block in the first ${FIRST_SCREEN_LINES} lines`,
    );
  if (!run.split("\n").some((line) => startsWith(line.replace(/^run_\w+\(\) \{/, "").trim(), TEST)))
    faults.push(`.ci/run must call the tests as README.md writes it: "${TEST}"`);
  return faults;
}

/** Whether a line is this command, alone or before a comment or another command. */
const startsWith = (line: string, command: string) =>
  line.startsWith(command) && /^(\s*$| +#| +\|\|)/.test(line.slice(command.length));
