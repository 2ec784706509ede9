/** The id of a token of a viewer: its `jti`, where somebody has pasted the whole token. */
export function tokenId(text: string): string {
  const [, payload, signature] = text.split('.')
  if (payload === undefined || signature === undefined) return text
  try {
    const { jti } = JSON.parse(atob(payload.replaceAll('-', '+').replaceAll('_', '/'))) as { jti?: unknown }
    return typeof jti === 'string' ? jti : text
  } catch {
    return text
  }
}
