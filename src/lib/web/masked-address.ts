const stars = '****************'

/** An address without what may be a token: its path and its query. One that has neither is shown. */
export function maskedAddress(address: string): string {
  if (!URL.canParse(address)) return stars
  const { origin, pathname, search, hash } = new URL(address)
  return `${pathname}${search}${hash}` === '/' ? address : `${origin}/${stars}`
}

/** Whether somebody who saw the address masked sent it back. */
export const isMaskOf = (given: unknown, stored: string | null): boolean => stored !== null && given === maskedAddress(stored)
