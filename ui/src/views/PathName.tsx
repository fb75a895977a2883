// A path in little room: its folders give way, the name of the file stays.

export function PathName(props: { path: string }) {
  const cut = () => props.path.lastIndexOf('/') + 1
  return (
    <span class="path-name" title={props.path}>
      <span class="ellipsis">{props.path.slice(0, cut())}</span>
      <span class="ellipsis">{props.path.slice(cut())}</span>
    </span>
  )
}
