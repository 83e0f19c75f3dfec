import { EXIT, UsageError } from "../../base/errors.ts";
import { clean } from "../../base/text.ts";
import { type Litter, litter, prune } from "../../work/operate/prune.ts";
import { consent } from "../confirm.ts";
import { durationFlag, reasonFlag } from "../flags.ts";
import { json } from "../table.ts";
import { withStore } from "../with-store.ts";

export const execute = withStore(async (call, world, desk) => {
  const [audit, hosts] = [durationFlag(call, "audit"), durationFlag(call, "hosts")];
  if (audit === undefined && hosts === undefined)
    throw new UsageError("say what to forget: --audit AGE, --hosts AGE, or both, as in --audit 365d");
  const reason = reasonFlag(call);
  const before = (age: number | undefined) => (age === undefined ? undefined : desk.clock.wall() - age);
  const found = await litter(desk, { audit: before(audit), hosts: before(hosts) });
  const end = (outcome: string, code: number) => {
    world.out(call.flags.json ? json(document(found, outcome)) : `${clean(sentence(found))}: ${outcome}\n`);
    return code;
  };
  if (found.audit.count === 0 && found.hosts.length === 0)
    return end("nothing to do", call.flags.strict ? EXIT.undone : EXIT.ok);
  const answer = await consent(call, world, `Forget ${clean(sentence(found))}?`);
  if (answer === "dry-run") return end("would be forgotten", EXIT.ok);
  if (answer === "no") return end("nothing was done", EXIT.undone);
  const receipt = await prune(desk, found, reason);
  return receipt.kind === "done"
    ? end("forgotten", EXIT.ok)
    : end("nothing was done, for a host was seen meanwhile", EXIT.changed);
});

function sentence({ audit, hosts }: Litter): string {
  const names = hosts.slice(0, 5).map(({ record }) => record.fqdn);
  const more = hosts.length > names.length ? `, and ${hosts.length - names.length} more` : "";
  return `${audit.count} audit records, ${hosts.length} hosts${names.length === 0 ? "" : ` (${names.join(", ")}${more})`}`;
}

function document({ revision, audit, hosts }: Litter, outcome: string): object {
  return { revision, outcome, audit: audit.count, hosts: hosts.map(({ record }) => record.fqdn) };
}
