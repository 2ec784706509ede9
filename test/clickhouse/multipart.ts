/** The fields of a form, in their order. */
export function readForm(body: Buffer, contentType: string): readonly (readonly [name: string, value: string])[] {
  const boundary = /boundary=([^;]+)/.exec(contentType)![1]!
  const parts = body.toString().split(`--${boundary}`)
  if (parts.at(-1)?.trim() !== '--') throw new Error('Code: 33. DB::Exception: Unexpected EOF. (CANNOT_READ_ALL_DATA)')
  return parts.slice(1, -1).map((part) => {
    const end = part.indexOf('\r\n\r\n')
    return [/name="([^"]+)"/.exec(part.slice(0, end))![1]!, part.slice(end + 4, -2)] as const
  })
}
