/** What Perl's `die` ends a program with. */
export const DIED = 255;
