import { createSocket } from 'node:dgram'

export interface Answer {
  readonly type: 'TXT' | 'CNAME'
  /** The strings of one text, or the name that is pointed at. */
  readonly data: readonly string[] | string
}

const typeNumbers = { TXT: 16, CNAME: 5 } as const
const counted = (text: string) => Buffer.concat([Buffer.from([text.length]), Buffer.from(text)])
const encoded = ({ data }: Answer) =>
  typeof data === 'string' ? Buffer.concat([...data.split('.').map(counted), Buffer.from([0])]) : Buffer.concat(data.map(counted))

/** A name server on loopback that knows these names and no others. */
export async function startNameServer(names: Readonly<Record<string, Answer>>): Promise<{ address: string; stop(): void }> {
  const server = createSocket('udp4')
  server.on('message', (question, from) => {
    const labels: string[] = []
    let at = 12
    for (let size = question[at]!; size > 0; size = question[at]!) {
      labels.push(question.toString('ascii', at + 1, at + 1 + size))
      at += size + 1
    }
    const known = names[labels.join('.').toLowerCase()]
    const header = Buffer.from(question.subarray(0, 12))
    header.writeUInt16BE(known ? 0x8580 : 0x8583, 2) // an answer, or: there is no such name
    header.writeUInt16BE(known ? 1 : 0, 6)
    header.fill(0, 8, 12)
    const data = known ? encoded(known) : Buffer.alloc(0)
    const record = Buffer.alloc(12)
    record.writeUInt16BE(0xc00c, 0)
    record.writeUInt16BE(known ? typeNumbers[known.type] : 0, 2)
    record.writeUInt16BE(1, 4)
    record.writeUInt16BE(data.length, 10)
    server.send(Buffer.concat([header, question.subarray(12, at + 5), ...(known ? [record, data] : [])]), from.port, from.address)
  })
  await new Promise<void>((ready) => server.bind(0, '127.0.0.1', ready))
  return { address: `127.0.0.1:${server.address().port}`, stop: () => server.close() }
}
