import { useState } from "react";
import { createRoot } from "react-dom/client";
import { Button, Checkbox, DatePicker, Dropdown, Modal, Rate, Select, Slider, Switch, Table, Tabs } from "antd";
import dayjs from "dayjs";

const log = document.querySelector("#log");
function App() {
  const [said, setSaid] = useState({});
  const [open, setOpen] = useState(null);
  const say = (name) => (value) => setSaid((all) => ({ ...all, [name]: value }));
  return (
    <div style={{ display: "grid", gap: 12, maxWidth: 600 }}>
      <Select id="city" placeholder="City" style={{ width: 200 }} onChange={say("city")} options={["Rome", "Paris", "Oslo"].map((value) => ({ value, label: value }))} />
      <DatePicker placeholder="Day" defaultPickerValue={dayjs("2026-05-01")} onChange={(_, text) => say("day")(text)} />
      <Checkbox onChange={(event) => say("agree")(event.target.checked)}>I agree</Checkbox>
      <Slider aria-label="Volume" style={{ width: 300 }} onChangeComplete={say("volume")} />
      <span><Switch onChange={say("news")} /> News</span>
      <Rate onChange={say("stars")} />
      <Dropdown menu={{ items: ["Edit", "Archive"].map((label) => ({ key: label, label })), onClick: ({ key }) => say("chosen")(key) }}><Button id="more">More</Button></Dropdown>
      <Tabs onChange={say("tab")} items={["One", "Two"].map((label) => ({ key: label, label, children: `Content ${label}` }))} />
      <Table size="small" pagination={false} rowKey="name" dataSource={[{ name: "Ada" }, { name: "Bob" }]}
        columns={[{ title: "Name", dataIndex: "name" }, { title: "", render: (_, { name }) => <Button onClick={() => setOpen(name)}>Delete</Button> }]} />
      <Modal open={open != null} title={`Delete ${open}?`} onOk={() => { say("deleted")(open); setOpen(null); }} onCancel={() => setOpen(null)} />
      <Button id="done" onClick={() => { log.textContent = JSON.stringify(said); }}>Done</Button>
    </div>
  );
}
createRoot(document.querySelector("#app")).render(<App />);
