/** Formats the sequence (OSC 52) that copies a text to the clipboard of the user's terminal. */
export function formatClipboardSequence(text: string): string {
  return `\x1b]52;c;${Buffer.from(text).toString("base64")}\x07`;
}
