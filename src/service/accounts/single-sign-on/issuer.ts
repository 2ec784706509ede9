/** Without TLS only on this machine. */
export const isLoopback = (hostname: string): boolean => /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(hostname)

/** Whether a text can be the address of an issuer of OpenID Connect. It is compared with what the issuer calls itself, so it stays as it is written. */
export function isIssuer(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : null
  if (!url || url.search + url.hash + url.username + url.password !== '') return false
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname))
}
