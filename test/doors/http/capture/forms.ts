import { gzipSync } from 'node:zlib'
import lzString from 'lz-string'

// One event in every form that clients send it.

export const event = { event: 'paid', distinct_id: 'ü+1', properties: { sum: 3 }, token: 'phc_x' }
export const json = JSON.stringify(event)
export const form = (fields: Record<string, string>) => new URLSearchParams(fields).toString()
const base64 = Buffer.from(json).toString('base64')
export const formType = { 'content-type': 'application/x-www-form-urlencoded' }

export interface Form {
  readonly method?: 'GET'
  readonly query?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array<ArrayBuffer>
}

const zipped = new Uint8Array(gzipSync(json))
const lz64 = lzString.compressToBase64(json)
const multipart = `--b\r\nContent-Disposition: form-data; name="data"\r\n\r\n${json}\r\n--b--\r\n`

export const forms: Readonly<Record<string, Form>> = {
  'raw JSON': { body: json },
  'raw JSON labelled as a form': { body: json, headers: formType },
  'JSON labelled as text': { body: json, headers: { 'content-type': 'text/plain' } },
  'JSON labelled as JSON': { body: json, headers: { 'content-type': 'application/json; charset=utf-8' } },
  'JSON behind blanks': { body: `\n  ${json}` },
  'a form field with JSON': { body: form({ data: json }), headers: formType },
  'a form field with base64': { body: form({ data: base64 }), headers: formType },
  'a form field with base64 whose + became blanks': { body: `data=${base64}`, headers: formType },
  'a form field with base64 without padding': { body: form({ data: base64.replace(/=+$/, '') }), headers: formType },
  'data= without a label': { body: form({ data: base64 }) },
  multipart: { body: multipart, headers: { 'content-type': 'multipart/form-data; boundary=b' } },
  'base64 asked for': { body: base64, query: { compression: 'base64' } },
  'base64 by its other name': { body: base64, query: { compression: 'b64' } },
  'base64 not asked for': { body: base64 },
  'gzip asked for': { body: zipped, query: { compression: 'gzip' } },
  'gzip-js in capitals': { body: zipped, query: { compression: 'GZIP-JS' }, headers: { 'content-type': 'text/plain' } },
  'gzip by header': { body: zipped, headers: { 'content-encoding': 'gzip', 'content-type': 'application/json' } },
  'gzip nobody mentioned': { body: zipped },
  'gzip labelled as a form': { body: zipped, headers: formType },
  'gzip in base64 in a form': { body: form({ data: gzipSync(json).toString('base64'), compression: 'gzip' }), headers: formType },
  'gzip asked for, plain sent': { body: json, query: { compression: 'gzip' } },
  lz64: { body: lz64, query: { compression: 'lz64' } },
  'lz64 by header': { body: lz64, headers: { 'content-encoding': 'lz64' } },
  'lz64 in a form': { body: form({ data: lz64, compression: 'lz64' }), headers: formType },
  'GET with JSON': { method: 'GET', query: { data: json } },
  'GET with base64': { method: 'GET', query: { data: base64 } },
  'GET with lz64': { method: 'GET', query: { data: lz64, compression: 'lz-string' } },
  'an unknown compression': { body: json, query: { compression: 'zip' } },
  'a list': { body: JSON.stringify([event]) },
  'a batch': { body: JSON.stringify({ api_key: 'phc_x', batch: [event] }) },
}
