import { generate } from 'lean-qr/nano'

/** Modules around the picture that stay white, so that cameras find it. */
const quiet = 4

/** A QR picture, made in the page: what it holds goes nowhere. */
export function QrPicture({ text, label }: { text: string; label: string }) {
  const code = generate(text)
  const size = code.size + 2 * quiet
  const rows = Array.from({ length: code.size }, (_, y) => y)
  const path = rows.flatMap((y) => rows.filter((x) => code.get(x, y)).map((x) => `M${x + quiet} ${y + quiet}h1v1h-1z`)).join('')
  return (
    <svg class="qr" role="img" aria-label={label} viewBox={`0 0 ${size} ${size}`} shape-rendering="crispEdges">
      <rect width={size} height={size} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  )
}
