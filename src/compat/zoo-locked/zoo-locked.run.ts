import { EXIT } from "../../base/errors.ts";
import { clean } from "../../base/text.ts";
import { explained } from "../../commands/perform.ts";
import { callOf, type Refusal, type RunResult, runErrand } from "../../commands/run/errand.ts";
import type { Execute, Surroundings } from "../../commands/spec.ts";
import { gatheredLayer } from "../../config/layers.ts";
import { hasEndpoints } from "../endpoints.ts";
import { INVALID } from "./codes.ts";
import { wishOf, type ZooLockedWish, zooKeeperHosts } from "./wish.ts";

export const execute: Execute = async ({ args }, world) => {
  let wasTold = false;
  const stop = world.onSignal(() => {
    wasTold = true;
  });
  try {
    const wish = wishOf(args);
    if (wish.endpoints === undefined && !hasEndpoints(world.env)) throw zooKeeperHosts(args[0] ?? "");
    return codeOf(await runErrand(errandOf(wish), world), wasTold, world);
  } catch (error) {
    const { exitCode, message } = explained(error);
    world.err(`zoo-locked: ${clean(message.replace(/^zoo-locked: /, ""))}\n`);
    return failureCode(exitCode);
  } finally {
    stop();
  }
};

function errandOf({ endpoints, lock, command }: ZooLockedWish) {
  return {
    call: callOf({ lock }, command),
    options: gatheredLayer(
      endpoints === undefined ? {} : { endpoints: { value: endpoints, source: "HOSTS" } },
    ),
  };
}

/** @param wasTold  a signal came to this process */
function codeOf(result: RunResult, wasTold: boolean, world: Surroundings): number {
  if (result.kind === "refused") {
    world.out(`LOCKED by ${clean(who(result.refusal))}\n`);
    return EXIT.ok;
  }
  if (result.kind === "interrupted" || result.exit.code !== undefined) return result.code;
  // zoo-locked sees no code of a command that a signal ended. It has no word for a lock that is lost, nor would it have
  // outlived a signal of its own.
  return result.ending !== undefined || wasTold ? result.code : EXIT.ok;
}

function who(refusal: Refusal): string {
  switch (refusal.kind) {
    case "busy": {
      const { run, ticket } = refusal.holder ?? { run: "?", ticket: undefined };
      return ticket === undefined ? `run ${run}` : `${ticket.host} pid ${ticket.pid} (run ${run})`;
    }
    case "drained":
      return `a drain of ${refusal.drains.map(({ scope, name, by }) => `${scope} ${name} (by ${by})`).join(", ")}`;
    case "outside":
      return `group ${refusal.group}, which does not hold this host`;
    default:
      return "nobody any more: the session expired while waiting";
  }
}

/** As the source has it, whoever cannot get at the server gives up with 0; and nobody looks whether a line was printed. */
function failureCode(code: number): number {
  const passedOver: number[] = [EXIT.unreachable, EXIT.permission, EXIT.io];
  if (passedOver.includes(code)) return EXIT.ok;
  const isOfShell = code === EXIT.notFound || code === EXIT.notExecutable;
  return isOfShell || code === EXIT.internal ? code : INVALID;
}
