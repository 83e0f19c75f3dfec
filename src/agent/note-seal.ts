import { createHmac, createSecretKey, type KeyObject, randomBytes, timingSafeEqual } from "node:crypto";
import { closeSync, constants, existsSync, fstatSync, openSync, readFileSync } from "node:fs";
import { ConfigError } from "../core/base/errors.ts";
import { writeOnce } from "../core/config/write-once.ts";

const KEY_BYTES = 32;
const KEY_MODE = 0o600;
const SEPARATOR = " ";

/**
 * Seals the notes that launchers keep. A launcher that reports a run after a restart of the agent could otherwise name
 * any run of any user.
 */
export class NoteSeal {
  readonly #path: string;
  readonly #key: KeyObject;

  private constructor(path: string, key: Buffer) {
    this.#path = path;
    this.#key = createSecretKey(key); // a Buffer would be converted for each note
  }

  /**
   * Reads the key from a file that only this user can read, and creates the file if it is missing. The next agent needs
   * the same key.
   * @throws ConfigError
   */
  static open(path: string): NoteSeal {
    try {
      writeOnce(path, randomBytes(KEY_BYTES), KEY_MODE);
      return new NoteSeal(path, readKey(path));
    } catch (cause) {
      const why = (cause as Error).message;
      throw new ConfigError(`the agent cannot keep its key in ${path}: ${why}`, { cause });
    }
  }

  /** Writes the key again if its file was removed. @throws Error */
  restore(): void {
    if (!existsSync(this.#path)) writeOnce(this.#path, this.#key.export(), KEY_MODE);
  }

  /** @param uid  the user of the launcher */
  seal(note: string, uid: number): string {
    return `${this.#sign(note, uid).toString("hex")}${SEPARATOR}${note}`;
  }

  /** Returns the note, or undefined if it was not sealed for this user. */
  unseal(sealed: string | undefined, uid: number): string | undefined {
    const at = sealed?.indexOf(SEPARATOR) ?? -1;
    if (sealed === undefined || at < 0) return undefined;
    const note = sealed.slice(at + 1);
    const given = Buffer.from(sealed.slice(0, at), "hex");
    const expected = this.#sign(note, uid);
    return given.length === expected.length && timingSafeEqual(given, expected) ? note : undefined;
  }

  #sign(note: string, uid: number): Buffer {
    return createHmac("sha256", this.#key).update(`${uid}\0${note}`).digest();
  }
}

function readKey(path: string): Buffer {
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK); // a pipe must not block the agent
  try {
    const { uid, mode } = fstatSync(descriptor);
    if (uid !== process.getuid?.() || (mode & 0o077) !== 0)
      throw new Error(
        "it must be owned by the agent's user, and other users must have no access (mode 0600)",
      );
    const key = readFileSync(descriptor);
    if (key.length !== KEY_BYTES)
      throw new Error(`it has ${key.length} bytes instead of ${KEY_BYTES}; remove it`);
    return key;
  } finally {
    closeSync(descriptor);
  }
}
