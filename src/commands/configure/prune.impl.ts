import { EXIT, UsageError } from "../../base/errors.ts";
import { clean } from "../../base/text.ts";
import { type PruneCandidates, prune, readPruneCandidates } from "../../work/operate/prune.ts";
import { parseDurationFlag, parseReasonFlag } from "../command-line/flags.ts";
import { confirmAction } from "../confirm.ts";
import { createStoreCommand } from "../store-command.ts";
import { formatJsonDocument } from "../table.ts";

export const execute = createStoreCommand(async (call, io, context) => {
  const [audit, hosts] = [parseDurationFlag(call, "audit"), parseDurationFlag(call, "hosts")];
  if (audit === undefined && hosts === undefined)
    throw new UsageError("--audit AGE or --hosts AGE is missing; for example: --audit 365d");
  const reason = parseReasonFlag(call);
  const computeCutoff = (age: number | undefined) =>
    age === undefined ? undefined : context.clock.getWallTime() - age;
  const found = await readPruneCandidates(context, {
    audit: computeCutoff(audit),
    hosts: computeCutoff(hosts),
  });
  const printOutcome = (outcome: string, code: number) => {
    io.writeOutput(
      call.flags.json
        ? formatJsonDocument(buildDocument(found, outcome))
        : `${clean(describeLitter(found))}: ${outcome}\n`,
    );
    return code;
  };
  if (found.audit.count === 0 && found.hosts.length === 0)
    return printOutcome("nothing to do", call.flags.strict ? EXIT.undone : EXIT.ok);
  const answer = await confirmAction(call, io, `Forget ${clean(describeLitter(found))}?`);
  if (answer === "dry-run") return printOutcome("would be forgotten", EXIT.ok);
  if (answer === "no") return printOutcome("nothing was done", EXIT.undone);
  const receipt = await prune(context, found, reason);
  return receipt.kind === "done"
    ? printOutcome("forgotten", EXIT.ok)
    : printOutcome("nothing was done, for a host was seen meanwhile", EXIT.changed);
});

function describeLitter({ audit, hosts }: PruneCandidates): string {
  const names = hosts.slice(0, 5).map(({ record }) => record.fqdn);
  const more = hosts.length > names.length ? `, and ${hosts.length - names.length} more` : "";
  return `${audit.count} audit records, ${hosts.length} hosts${names.length === 0 ? "" : ` (${names.join(", ")}${more})`}`;
}

function buildDocument({ revision, audit, hosts }: PruneCandidates, outcome: string): object {
  return { revision, outcome, audit: audit.count, hosts: hosts.map(({ record }) => record.fqdn) };
}
