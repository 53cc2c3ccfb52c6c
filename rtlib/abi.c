/* abi.c: the version of the agreement between compiled code and this library.
 *
 * Input: none.  Output: a number that changes when a function here changes its meaning or its arguments. */
unsigned krait_rt_abi_version(void);

unsigned krait_rt_abi_version(void) { return 1; }
