import * as v from "valibot";
import { quoteInput } from "../../core/base/schema.ts";
import { isText, isTexts } from "../../schedule/json-fields.ts";
import { createFields, createText } from "./schema-parts.ts";

/** A name of a credential is that of a file in the folder of systemd. */
const CREDENTIAL = v.pipe(
  createText("is not the name of a credential"),
  v.regex(/^(?!\.\.?$)[^/\0]+$/, "it must be a name without a /"),
);

const OBJECT = v.pipe(
  createFields({
    file: v.exactOptional(createText("is not a path")),
    /** Of systemd: the first part of `LoadCredential=`. */
    credential: v.exactOptional(CREDENTIAL),
    /** Stands before the content. */
    prefix: v.exactOptional(v.string(), ""),
    /** Names of the schedules whose commands may have it; with `*` at the end, of all that begin so. Default: all. */
    schedules: v.exactOptional(
      v.custom<readonly string[]>(isTexts, quoteInput("is not a list of names of schedules")),
    ),
  }),
  v.check(
    ({ file, credential }) => (file === undefined) !== (credential === undefined),
    "it needs exactly one of file and credential",
  ),
);

/** Where the value of a secret is: a path, or an object. */
export const SECRET = v.lazy((input) =>
  isText(input)
    ? v.pipe(
        createText("is not a path"),
        v.transform((file): v.InferOutput<typeof OBJECT> => ({ file, prefix: "" })),
      )
    : OBJECT,
);
export type SecretSpec = v.InferOutput<typeof OBJECT>;
