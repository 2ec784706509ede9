/** A text with what stands between backticks as code. */
export const WithCode = ({ text }: { text: string }) => (
  <>{text.split('`').map((part, i) => (i % 2 === 1 ? <code key={i}>{part}</code> : part))}</>
)
