import { closeSync, openSync, readSync } from "node:fs";
import { machine } from "node:os";

/** Names of ELF's `e_machine`. @see elf(5) */
const NAMES: Record<number, string> = {
  3: "i386",
  8: "MIPS",
  20: "PowerPC",
  21: "PowerPC64",
  22: "s390x",
  40: "ARM",
  62: "x86-64",
  183: "AArch64",
  243: "RISC-V",
  258: "LoongArch",
};
/** Machines whose programs can run beside a Node of an architecture: a 64-bit kernel also starts 32-bit programs. */
const STARTABLE: Partial<Record<NodeJS.Architecture, readonly number[]>> = {
  x64: [62, 3],
  ia32: [3, 62],
  arm64: [183, 40],
  arm: [40, 183],
  ppc64: [21, 20],
  s390x: [22],
  riscv64: [243],
  loong64: [258],
  mips: [8],
  mipsel: [8],
};
const HEADER_BYTES = 20;
const BIG_ENDIAN = 2;

/**
 * Explains that a program was built for another processor. Check this before the start: execvp(3) would pass such a
 * file to the shell, which would interpret its bytes as commands.
 * @returns undefined when the program fits, when this is unknown, and for files that are not ELF
 */
export function findForeignMachine(path: string): string | undefined {
  const header = readHeader(path);
  const fitting = STARTABLE[process.arch];
  if (header === undefined || fitting === undefined) return undefined;
  const built = header[5] === BIG_ENDIAN ? header.readUInt16BE(18) : header.readUInt16LE(18);
  if (fitting.includes(built)) return undefined;
  const name = NAMES[built] ?? "an unknown processor";
  return `it is built for ${name} (ELF machine ${built}), and this host is ${machine()} (Node: ${process.arch})`;
}

function readHeader(path: string): Buffer | undefined {
  try {
    const descriptor = openSync(path, "r");
    try {
      const header = Buffer.alloc(HEADER_BYTES);
      const length = readSync(descriptor, header, 0, HEADER_BYTES, 0);
      return length === HEADER_BYTES && header.toString("latin1", 0, 4) === "\x7fELF" ? header : undefined;
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return undefined; // executable but not readable: starting it shows any error
  }
}
