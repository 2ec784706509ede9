// Forms, as fields by name. Each field takes more memory than its bytes, so fields are counted before they are parsed.

export const maxFormFields = 1_000

export class FormError extends Error {
  override readonly name = 'FormError'
}

const tooMany = () => new FormError(`the form has more than ${maxFormFields} fields`)

export function urlEncodedFields(text: string): URLSearchParams {
  let fields = 1
  for (let at = text.indexOf('&'); at >= 0; at = text.indexOf('&', at + 1)) if (++fields > maxFormFields) throw tooMany()
  return new URLSearchParams(text)
}

const boundaryOf = (type: string): string | undefined => /;\s*boundary=("?)([^";]{1,200})\1/i.exec(type)?.[2]

export async function multipartFields(bytes: Uint8Array, type: string): Promise<FormData> {
  const boundary = boundaryOf(type)
  if (boundary === undefined) throw new FormError('the Content-Type header has no boundary')
  const whole = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const mark = `--${boundary}`
  let fields = 0
  for (let at = whole.indexOf(mark); at >= 0; at = whole.indexOf(mark, at + mark.length)) if (++fields > maxFormFields) throw tooMany()
  return new Response(new Uint8Array(bytes), { headers: { 'content-type': type } }).formData().catch((cause: unknown) => {
    throw new FormError('invalid multipart body', { cause })
  })
}
