/** Patterns that match the requests of a run by their bytes, for both transports. */

/** Matches bytes that contain a text: plain, as in gRPC, or in base64 at any alignment, as in HTTP. */
export function matchText(text: string): RegExp {
  const base64 = [0, 1, 2].map((before) => {
    const encoded = Buffer.from("\0".repeat(before) + text).toString("base64");
    const end = Math.floor(((before + text.length) * 8) / 6); // the last character that the text alone decides
    return encoded.slice(Math.ceil((before * 8) / 6), end);
  });
  return new RegExp([text, ...base64].map((one) => one.replace(/[^\w"]/g, "\\$&")).join("|"));
}

/** The session's grant. In gRPC: TTL (field 1), then ID (field 2), as the whole message. */
export const matchSessionGrant = (transport: string, ttl: number): RegExp =>
  transport === "http"
    ? /POST \/v3\/lease\/grant/
    : new RegExp(`\\0\\0\\0\\0[\\s\\S]\\x08\\x${ttl.toString(16).padStart(2, "0")}\\x10`);

/** A renewal of a session. In gRPC: an ID (field 1) as the whole message, as in its ending. */
export const matchRenewal = (transport: string): RegExp =>
  transport === "http" ? /POST \/v3\/lease\/keepalive/ : ID_ALONE;

/** The ending of a session; in gRPC also a renewal, should one be due before. */
export const matchSessionEnd = (transport: string): RegExp =>
  transport === "http" ? /POST \/v3\/lease\/revoke/ : ID_ALONE;

const ID_ALONE = /\0\0\0\0[\x02-\x0b]\x08/;

/** The creation of a watch. In gRPC: the only message whose first field is a message whose first field is a key. */
export const matchWatchCreation = (transport: string): RegExp =>
  transport === "http" ? /POST \/v3\/watch/ : /\0\0\0[\s\S]{2}\x0a[\s\S]{1,2}\x0a[\s\S]{1,2}\//;
