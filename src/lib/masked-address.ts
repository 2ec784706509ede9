const stars = '****************'

/** An address without what may be a token: its path and its query. */
export const maskedAddress = (address: string): string => (URL.canParse(address) ? `${new URL(address).origin}/${stars}` : stars)

/** Whether somebody who saw the address masked sent it back. */
export const isMaskOf = (given: unknown, stored: string | null): boolean => stored !== null && given === maskedAddress(stored)
