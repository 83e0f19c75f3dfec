// Exports for front ends that handle schedules: errors, and the parser of worker files.
export { AlreadyExistsError, NotFoundError } from "../../schedule/errors.ts";
export { readEnvironments, SourceDocument } from "../../worker/file/worker-file.ts";
