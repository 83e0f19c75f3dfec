// Exports for front ends that handle schedules: errors, and the parser of worker files.
export { AlreadyExistsError, NotFoundError } from "../../schedule/errors.ts";
export { SourceDocument } from "../../work/worker/file/source-document.ts";
export { readEnvironments } from "../../work/worker/file/worker-file.ts";
