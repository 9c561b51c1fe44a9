// SPDX-License-Identifier: MIT
// A page from a disk may not start a worker. The search then runs in a hidden frame, with the interface of a worker.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      frame.srcdoc = `<script>self.postMessage = (data) => parent.dispatchEvent(new CustomEvent("search", {detail: data}));<\/script><script src="${url}"><\/script>`;
      this.ready = new Promise((done) => frame.addEventListener("load", () => done(frame.contentWindow)));
      window.addEventListener("search", (event) => this.dispatchEvent(new MessageEvent("message", {data: event.detail})));
      document.documentElement.append(frame);
    }
    postMessage(data) {
      this.ready.then((inside) => inside.dispatchEvent(new MessageEvent("message", {data})));
    }
  };
}
