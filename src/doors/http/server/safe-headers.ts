/** On every answer: no MIME sniffing, no framing, no referrer. A page may set stricter headers. */
export const safeHeaders: Readonly<Record<string, string>> = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  // Answers are specific to a caller and a time, and some contain secrets.
  'cache-control': 'no-store',
}

export const withSafeHeaders = (response: Response): Response => {
  // Older browsers would not frame a page that allows it.
  const isFrameable = response.headers.get('content-security-policy')?.endsWith('frame-ancestors *') === true
  for (const [name, value] of Object.entries(safeHeaders))
    if (!response.headers.has(name) && !(isFrameable && name === 'x-frame-options')) response.headers.set(name, value)
  return response
}
