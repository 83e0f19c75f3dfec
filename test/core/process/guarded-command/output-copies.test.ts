import { expect, test } from "vitest";
import { CopyReader } from "../../../../src/core/process/guarded-command/output-copies.ts";

test("frames are read in any pieces, with what was left out before them", () => {
  const buildFrame = (text: string, lost: number) => {
    const header = Buffer.alloc(8);
    header.writeUInt32LE(text.length, 0);
    header.writeUInt32LE(lost, 4);
    return Buffer.concat([header, Buffer.from(text)]);
  };
  const stream = Buffer.concat([buildFrame("abc", 0), buildFrame("", 9), buildFrame("de", 5)]);
  for (let size = 1; size <= stream.length; size += 1) {
    let [text, lost] = ["", ""];
    const reader = new CopyReader((chunk, missing) => {
      text += chunk;
      if (missing > 0) lost += `${missing}@${text.length} `;
    });
    for (let at = 0; at < stream.length; at += size) reader.consume(stream.subarray(at, at + size));
    expect({ text, lost }).toEqual({ text: "abcde", lost: "9@3 5@3 " });
  }
});
