import type { HookText } from "./hook-text.ts";

/** Builds the body for a workflow of Microsoft Teams that posts cards. @see https://adaptivecards.microsoft.com */
export function buildTeamsBody({ title, facts, output }: HookText): unknown {
  const body: unknown[] = [
    { type: "TextBlock", text: title, weight: "bolder", size: "medium", wrap: true },
    { type: "FactSet", facts: facts.map(([name, value]) => ({ title: name, value })) },
  ];
  if (output !== "")
    body.push({
      type: "TextBlock",
      text: output.replaceAll("\n", "\n\n"),
      fontType: "monospace",
      wrap: true,
    });
  const content = {
    $schema: "http://adaptivecards.io/schemas/adaptive-card.json",
    type: "AdaptiveCard",
    version: "1.4",
    body,
  };
  return {
    type: "message",
    attachments: [{ contentType: "application/vnd.microsoft.card.adaptive", content }],
  };
}
