import { EXIT } from "../../base/errors.ts";
import { clean } from "../../base/text.ts";
import { type Preview, preview } from "../../work/run/preview.ts";
import type { RunPorts, RunRequest } from "../../work/run/request.ts";
import type { Call, Surroundings } from "../spec.ts";
import { json } from "../table.ts";

/** `signalbox run --dry-run`. @returns 0 when it would be granted or wait its turn, the busy code otherwise */
export async function show(
  ports: RunPorts,
  request: RunRequest,
  call: Call,
  world: Surroundings,
): Promise<number> {
  const found = await preview(ports, request);
  world.out(call.flags.json ? json(document(request, found)) : text(request, found));
  return found.verdict === "refused" ? request.busyExitCode : EXIT.ok;
}

function document({ lock, group, identity }: RunRequest, found: Preview): object {
  return { host: identity.host, lock, group, ...found };
}

function text({ lock, group, identity }: RunRequest, { leases, verdict, obstacles }: Preview): string {
  const now = { granted: "would be granted at once", waits: "would wait", refused: "would give up" };
  const lines = [
    ["host", identity.host],
    ["lock", lock ?? "(none)"],
    ...(group === undefined ? [] : [["group", group]]),
    ...leases.map(({ resource, count, total, free }) => [
      "lease",
      `${resource}: ${count} of ${total}, ${free} free`,
    ]),
    ["now", now[verdict]],
    ...obstacles.map((obstacle) => ["because", obstacle]),
  ];
  return lines.map(([name = "", value = ""]) => `${name.padEnd(8)} ${clean(value)}\n`).join("");
}
