import { formatDuration } from "../../base/duration.ts";
import { quoted } from "../../base/text.ts";
import { parseCron } from "../../schedule/cron.ts";
import { DEFAULTS, type Definition, typeOf } from "../../schedule/definition.ts";
import { explainCron } from "../../schedule/explain.ts";
import { timingOf } from "../../schedule/timing.ts";
import { argvText, pauseText } from "./change-lines.ts";
import { shownInstant } from "./instant.ts";

const OVERLAP = {
  forbid: "while one run lasts, the next one waits",
  allow: "runs may go on beside each other",
  replace: "a run that still goes on when the next one is due is ended for it",
};
const CATCHUP = {
  all: "occurrences that were missed are made up for, one after the other",
  latest: "of occurrences that were missed, only the latest is made up for",
  none: "occurrences that were missed are skipped",
};

/** A definition in sentences. */
export function definitionLines(id: string, definition: Definition): string[] {
  return [when(id, definition), what(id, definition), ...rules(definition), ...limits(definition)];
}

function when(id: string, { cron, timezone, end, ...rest }: Definition): string {
  const { lag } = timingOf(id, { cron, timezone, ...rest });
  const later = lag === 0 ? "" : `, ${formatDuration(lag)} later`;
  const until = end === undefined ? "" : `, until ${shownInstant(end)}`;
  return `${explainCron(parseCron(cron))}, ${timezone}${later}${until}`;
}

function what(id: string, definition: Definition): string {
  const { command, group, leases = [] } = definition;
  const work =
    command === undefined
      ? `runs the handler for type ${quoted(typeOf(id, definition))}`
      : `runs: ${argvText(command)}`;
  const where = group === undefined ? "" : `, on hosts of group ${group}`;
  return `${work}${where}${leases.length === 0 ? "" : `, holding ${leases.join(", ")}`}`;
}

function rules({ overlap = DEFAULTS.overlap, catchup = DEFAULTS.catchup, deadline }: Definition): string[] {
  const late = deadline ?? (catchup === "none" ? DEFAULTS.missedAfter : undefined);
  return [
    OVERLAP[overlap],
    `${CATCHUP[catchup]}${late === undefined ? "" : `; what is more than ${formatDuration(late)} late is skipped`}`,
  ];
}

function limits({ timeout, retries = 0, backoff = DEFAULTS.backoff, pause, note }: Definition): string[] {
  const times = retries === 1 ? "once" : `${retries} times`;
  return [
    ...(timeout === undefined ? [] : [`a run that takes longer than ${formatDuration(timeout)} is ended`]),
    retries === 0
      ? "one that fails is given up, and kept as a dead letter"
      : `one that fails is started again ${times}, ${formatDuration(backoff)} later and then ever more; then it is kept as a dead letter`,
    ...(pause === undefined ? [] : [`it is paused${pauseText(pause)}`]),
    ...(note === undefined ? [] : [`note: ${note}`]),
  ];
}
