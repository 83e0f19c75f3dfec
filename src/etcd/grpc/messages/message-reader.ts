import type { FieldKind, MessageType } from "./message-type.ts";
import { getWireType, WIRE } from "./wire-format.ts";

const TWO_32 = 2 ** 32;

/**
 * Decodes a message. Fields that the sender left out, because they have their default, are undefined. Unknown fields are
 * skipped. 64-bit integers are numbers where these are exact, else bigints.
 * @throws Error for bytes that are no such message
 */
export function decodeMessage(type: MessageType, bytes: Uint8Array): object {
  const buffer = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes);
  return new MessageReader(buffer).readMessage(type, buffer.length);
}

class MessageReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** @param end  index after the message */
  readMessage(type: MessageType, end: number): object {
    const message: Record<string, unknown> = {};
    while (this.#at < end) {
      const tag = this.#readSmall();
      const field = type.findField(tag >>> 3);
      if (field === undefined || (tag & 7) !== getWireType(field.kind)) {
        this.#skip(tag & 7);
        continue;
      }
      const value = this.#readValue(field.kind);
      const { [field.name]: before } = message;
      if (!field.isRepeated) message[field.name] = value;
      else if (before === undefined) message[field.name] = [value];
      else (before as unknown[]).push(value);
    }
    if (this.#at !== end) throw new Error("a message of etcd ends within a field");
    return message;
  }

  #readValue(kind: FieldKind): unknown {
    switch (kind) {
      case "integer":
        return this.#readInteger();
      case "unsigned":
        return toUnsigned(this.#readInteger());
      case "flag":
        return this.#readInteger() !== 0;
      case "key":
        return this.#readString("latin1");
      case "text":
        return this.#readString("utf8");
      default:
        return this.readMessage(kind, this.#readEnd());
    }
  }

  #readString(encoding: "latin1" | "utf8"): string {
    const end = this.#readEnd();
    const text = this.#bytes.toString(encoding, this.#at, end);
    this.#at = end;
    return text;
  }

  /** Reads a length. @returns the index after so many bytes */
  #readEnd(): number {
    const end = this.#readSmall() + this.#at;
    if (end > this.#bytes.length) throw new Error("a message of etcd is incomplete");
    return end;
  }

  #skip(wireType: number): void {
    if (wireType === WIRE.varint) this.#readInteger();
    else if (wireType === WIRE.bytes) this.#at = this.#readEnd();
    else if (wireType === WIRE.fourBytes) this.#at += 4;
    else if (wireType === WIRE.eightBytes) this.#at += 8;
    else throw new Error(`a message of etcd has a field of the unknown type ${wireType}`);
  }

  /** Reads a tag or a length, both below 2^32. */
  #readSmall(): number {
    const value = this.#readInteger();
    if (typeof value === "bigint" || value < 0 || value >= TWO_32)
      throw new Error(`a message of etcd has the length ${value}`);
    return value;
  }

  /** Reads a varint as a signed integer of 64 bits. */
  #readInteger(): number | bigint {
    let value = 0;
    for (let shift = 1, count = 0; count < 7; count += 1, shift *= 128) {
      const byte = this.#readByte();
      value += (byte & 0x7f) * shift;
      if (byte < 0x80) return value; // at most 49 bits
    }
    return this.#readLargeInteger(BigInt(value));
  }

  #readLargeInteger(low: bigint): bigint {
    let value = low;
    for (let shift = 49n; shift < 70n; shift += 7n) {
      const byte = this.#readByte();
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asIntN(64, value);
    }
    throw new Error("a message of etcd has a number of more than 64 bits");
  }

  #readByte(): number {
    const byte = this.#bytes[this.#at];
    if (byte === undefined) throw new Error("a message of etcd is incomplete");
    this.#at += 1;
    return byte;
  }
}

function toUnsigned(value: number | bigint): number | bigint {
  return value < 0 ? BigInt.asUintN(64, BigInt(value)) : value;
}
