// Search runs in a worker, which browsers refuse on a page that was opened as a file. There, a frame takes its place.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super()
      this.frame = document.createElement("iframe")
      this.frame.hidden = true
      document.body.appendChild(this.frame)
      const inside = this.frame.contentDocument
      const loaded = new Promise((resolve) => this.frame.addEventListener("load", resolve, { once: true }))
      inside.open()
      inside.write("<!doctype html><html><body></body></html>")
      inside.close()
      this.ready = loaded.then(
        () =>
          new Promise((resolve) => {
            const scope = this.frame.contentWindow
            scope.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }))
            const script = scope.document.createElement("script")
            script.src = url
            script.onload = resolve
            scope.document.body.appendChild(script)
          }),
      )
    }

    postMessage(data) {
      this.ready.then(() => this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data })))
    }

    terminate() {
      this.frame.remove()
    }
  }
}
