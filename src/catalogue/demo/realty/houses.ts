import { type Estate, RENT_TERMS, RENT_TERMS_EN, SALE_TERMS, SALE_TERMS_EN, words } from './estate.ts';

export const HOUSES: Estate = {
  category: 'дома',
  gender: 'm',
  weight: 13,
  rentShare: 0.15,
  area: [40, 300],
  metreShare: 0.42,
  rentPerMonth: 0.0042,
  sale: {
    ru: words(
      `
        Дом $area м², участок $plot
        Дом $area м² на участке $plot
        Коттедж $area м², $storeys
        Продам дом, $area м², $plot
        `,
      `
        Дом $area м², $roomsWord, $storeys, участок $plot. До центра города $km км
        Продаётся [кирпичный|бревенчатый|каркасный|газобетонный] дом, $area м², участок $plot, $km км от центра
        Коттедж $within, $area м², $roomsWord, построен в $built году
        `,
      `
        [Газ, вода и свет подведены|Газ по границе, скважина, септик|Отопление газовое, тёплые полы]
        На участке [баня и теплица|гараж и сад|беседка и мангальная зона|плодовые деревья], забор [из профлиста|кирпичный|деревянный]
        Подъезд круглый год, [рядом лес и пруд|школа и магазин в посёлке|автобус до города]
        [Под чистовую отделку|С мебелью|Готов к проживанию], [подходит для постоянной жизни|можно прописаться]
        `,
      SALE_TERMS,
    ),
    en: words(
      `
        House for sale, $area m²
        $area m² house $within
        `,
      `
        House of $area m², $rooms rooms, $storeys, plot of $plot, $km km to the centre
        `,
      `
        Gas, water and electricity are connected, all-year road
        There is a sauna, a garage and a garden
        Ready to move in, furniture is negotiable
        `,
      SALE_TERMS_EN,
    ),
  },
  rent: {
    ru: words(
      `
        Сдам дом, $area м²
        Дом $area м² в аренду, $km км от города
        Сдаётся коттедж $area м²
        `,
      `
        Сдаётся дом $area м², $roomsWord, участок $plot, $km км до центра
        Можно снять дом на длительный срок: $area м², $roomsWord, $km км до центра
        `,
      `
        [Мебель и техника есть|Частично с мебелью], отопление [газовое|электрическое], горячая вода
        [Можно с детьми и животными|Для семьи|Для бригады не сдаётся], парковка на два автомобиля
        Во дворе [мангал и беседка|баня|место для машины], тихая улица
        `,
      RENT_TERMS,
    ),
    en: words(
      `
        House for rent, $area m²
        `,
      `
        $area m² house, $rooms rooms, plot of $plot, $km km to the centre
        `,
      `
        Furnished, gas heating, parking for two cars
        Families with children and pets are welcome
        `,
      RENT_TERMS_EN,
    ),
  },
};
