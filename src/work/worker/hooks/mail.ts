import type { HookText } from "./hook-text.ts";

/** The program that takes mail on Unix systems. Cron uses it too. */
const SENDMAIL = "/usr/sbin/sendmail";

/** Builds the command that sends a mail, and its standard input. */
export function buildMail(
  recipients: readonly string[],
  { title, facts, output }: HookText,
): { argv: readonly string[]; input: string } {
  const headers = [
    `To: ${recipients.join(", ")}`,
    `Subject: ${encodeHeader(`signalbox: ${title}`)}`,
    "Auto-Submitted: auto-generated",
    "MIME-Version: 1.0",
    "Content-Type: text/plain; charset=utf-8",
    "Content-Transfer-Encoding: 8bit",
  ];
  const lines = [title, "", ...facts.map(([name, value]) => `${name}: ${value}`)];
  const body = output === "" ? lines : [...lines, "", "Last output:", "", output];
  return { argv: [SENDMAIL, "-i", ...recipients], input: `${headers.join("\n")}\n\n${body.join("\n")}\n` };
}

/** Characters of one encoded word, which may be 75 bytes long. */
const WORD_LENGTH = 14;

/** Encodes a header that is not plain ASCII. @see RFC 2047 */
export function encodeHeader(text: string): string {
  if (/^[\x20-\x7e]*$/.test(text)) return text;
  const chars = [...text];
  const words = Array.from({ length: Math.ceil(chars.length / WORD_LENGTH) }, (_, at) =>
    chars.slice(at * WORD_LENGTH, (at + 1) * WORD_LENGTH).join(""),
  );
  return words.map((word) => `=?UTF-8?B?${Buffer.from(word).toString("base64")}?=`).join(" ");
}
