import { createFindingBuilder, type Finding } from "../base/finding.ts";
import { quoteText } from "../base/text.ts";
import { findPrivacyFault } from "../output/output-directory.ts";

/**
 * Checks where the output of runs is kept. Creates nothing: the first run that keeps output creates the directory.
 * @param directory  undefined if this user has none
 */
export async function checkOutput(directory: string | undefined): Promise<Finding> {
  const about = createFindingBuilder("output");
  if (directory === undefined) {
    const detail = "output of runs is not kept: this user has no home; to keep it, set outputDirectory";
    return about.ok(detail);
  }
  const fault = await findPrivacyFault(directory).catch((error: NodeJS.ErrnoException) =>
    error.code === "ENOENT" ? undefined : error.message,
  );
  if (fault === undefined) return about.ok(`output of runs is kept in ${quoteText(directory)}`);
  const remedy = `chmod 0700 it, give it to this user, or set outputDirectory`;
  return about.warning(`output of runs is not kept: ${fault}`, remedy);
}
