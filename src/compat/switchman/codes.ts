/** Exit code of Perl's `die`. */
export const DIED = 255;
