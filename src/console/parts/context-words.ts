import type { SettingsAccess } from "./parts.ts";

/**
 * Lists the flags that a command line to copy needs so that it acts on the cluster that is shown: none if the configuration or a
 * variable chose the context.
 */
export function listContextWords({ context }: Pick<SettingsAccess, "context">): string[] {
  const { sources, values } = context.config;
  return values.context !== undefined && sources.context.startsWith("flag ")
    ? ["--context", values.context]
    : [];
}
