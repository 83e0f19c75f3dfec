import * as v from "valibot";
import { isCount, isMillis } from "../json-fields.ts";

/** A whole number of ms: an instant since the epoch, or a duration. */
export const MILLIS = v.custom<number>(isMillis);
export const COUNT = v.custom<number>(isCount);
