import type { HookText } from "./hook-text.ts";

/** Builds the body for an incoming webhook. @see https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks */
export function buildSlackBody({ title, facts, output }: HookText): unknown {
  const lines = [
    `*${escapeMarkup(title)}*`,
    ...facts.map(([name, value]) => escapeMarkup(`${name}: ${value}`)),
  ];
  const code = output === "" ? [] : [`\`\`\`${escapeMarkup(output).replaceAll("```", "'''")}\`\`\``];
  return { text: [...lines, ...code].join("\n") };
}

/** Slack reads only these three characters as markup of its own. */
function escapeMarkup(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
