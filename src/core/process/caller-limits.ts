import { readCallerEnvironment } from "./caller-environment.ts";
import { INHERITED_VARIABLE, parseInherited } from "./guarded-command/command.ts";
import { loadAddon } from "./native/locate.ts";

/** Numbers of limits by the words of the launcher. @see getrlimit(2) */
const RESOURCES: Readonly<Record<string, number>> = { core: 4, nofile: 7 };

/**
 * Starts a program with the limits of this process's caller, which Node and the launcher have changed.
 * @param start  receives the caller's environment
 */
export function startAsCaller<T>(start: (env: NodeJS.ProcessEnv) => T): T {
  const { limits } = parseInherited(process.env[INHERITED_VARIABLE]);
  const env = readCallerEnvironment();
  if (limits.length === 0) return start(env);
  const { setSoftLimit = () => 0 } = loadAddon();
  const changed = limits.map((word) => {
    const [name = "", soft] = word.split("=");
    const resource = RESOURCES[name] ?? -1;
    return { resource, own: setSoftLimit(resource, Number(soft)) };
  });
  try {
    return start(env);
  } finally {
    for (const { resource, own } of changed) setSoftLimit(resource, own);
  }
}
